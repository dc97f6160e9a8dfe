import { expect } from "bun:test";
import { EvaluateResponse } from "@presage/contract";
import { signInLocally } from "../sign-in/session.ts";
import type { SpawnedPresage } from "./spawn-presage.ts";

/** The README's first prediction, answered by the sandbox. */
export async function expectFirstPrediction({ call }: SpawnedPresage): Promise<void> {
  const interaction = {
    state: "You are in the kitchen. The fridge is closed.",
    action: "open fridge",
  };
  const response = await call("POST", "/v1/predict", { interaction });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { response: { content: "You open the fridge." }, usage: { prompt_tokens: 17, completion_tokens: 5 } },
  ]);
}

/** A text that takes an evaluator's thread; another thread writes the result. */
export async function expectEvaluationInThreads({ call }: SpawnedPresage): Promise<void> {
  const response = await call("POST", "/v1/evaluate", {
    evaluators: [{ evaluator: "regex" }],
    evaluated_model_output: `${" ".repeat(150_000)}open`,
  });
  const [evaluated] = EvaluateResponse.parse(await response.json()).results;
  expect([evaluated?.status, evaluated?.evaluation_result?.pass]).toEqual(["success", true]);
  const stored = await call("GET", `/v1/evaluation-results/${evaluated?.evaluation_result?.id}`);
  expect(stored.status).toBe(200);
}

/** The page of the dashboard, every file that it names, and the page of the API. */
export async function expectPages(presage: SpawnedPresage): Promise<void> {
  const [signInAddress] = /http:\S+\/sign-in#[\w-]+/.exec(await presage.stderr()) ?? [];
  const browser = await signInLocally({ url: presage.url, signInAddress });
  const html = await (await browser.fetch(`${presage.url}/`)).text();
  const named = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThanOrEqual(4);
  const fonts = ["inter", "jetbrains-mono"].map((name) => `/assets/${name}-latin-wght-normal.woff2`);
  const ofDocs = ["/docs", "/docs/predict", "/docs/guides/worlds", "/assets/reference.json", "/openapi.json"];
  for (const path of new Set([...named, ...fonts, ...ofDocs])) {
    const { status, body } = await browser.fetch(presage.url + path);
    expect([path, status]).toEqual([path, 200]);
    await body?.cancel();
  }
}
