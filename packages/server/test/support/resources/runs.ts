import { expect } from "bun:test";
import { Run, RunExportLine, type RunSample, RunSampleListResponse } from "@presage/contract";
import { eventually } from "../eventually.ts";
import type { TestPresage } from "../presage/presage.ts";

/** The calls that tests make on runs. */
export function runClient(presage: Pick<TestPresage, "call">) {
  async function read(id: string): Promise<Run> {
    const response = await presage.call("GET", `/v1/runs/${id}`);
    return Run.parse(await response.json());
  }

  return {
    read,
    async create(body: Record<string, unknown>): Promise<Run> {
      const response = await presage.call("POST", "/v1/runs", {
        evaluators: [{ evaluator: "exact-match" }],
        ...body,
      });
      const text = await response.text();
      expect([response.status, text]).toEqual([201, expect.any(String)]);
      return Run.parse(JSON.parse(text));
    },
    /** Waits until a run has ended. */
    async end(id: string, timeoutMs = 60_000): Promise<Run> {
      return await eventually(
        () => read(id),
        ({ status }) => status === "finished" || status === "cancelled" || status === "failed",
        timeoutMs,
      );
    },
    async change(id: string, action: "cancel" | "finish" | "pause" | "resume") {
      const response = await presage.call("POST", `/v1/runs/${id}/${action}`);
      return { status: response.status, body: await response.json() };
    },
    /** All predictions, page by page. */
    async samples(id: string, query = ""): Promise<RunSample[]> {
      const all: RunSample[] = [];
      for (let after = ""; ; ) {
        const response = await presage.call("GET", `/v1/runs/${id}/samples?limit=1000${query}${after}`);
        const text = await response.text();
        expect([response.status, text]).toEqual([200, expect.any(String)]);
        const { data, next } = RunSampleListResponse.parse(JSON.parse(text));
        all.push(...data);
        if (next === null) return all;
        after = `&after=${next}`;
      }
    },
    /** The lines of a run's export. */
    async exported(id: string) {
      const text = await (await presage.call("GET", `/v1/runs/${id}/export`)).text();
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => RunExportLine.parse(JSON.parse(line)));
    },
  };
}
