import { expect, test } from "bun:test";
import { runFuzz, writeReport } from "../../../../fuzz/run-fuzz.ts";
import { startTarget, type UpstreamKind } from "../../../../fuzz/target/target.ts";
import { seed, seeded } from "../support/seeded.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const requests: Record<UpstreamKind, number> = { sandbox: 280, faulty: 100 };

/** For a machine with two processors that also runs other tests; `npm run fuzz`, alone on its machine, allows 300 ms. */
const maxHealthMs = 3_000;
const maxMemoryBytes = 1_000e6;

onAnyDatabase((database) => {
  /** Returns a report of the findings, or an empty text if there are none. */
  async function fuzz(upstream: UpstreamKind): Promise<string> {
    await using target = await startTarget(await database.create(), upstream);
    const plan = { seed, firstIndex: 0, requests: requests[upstream], concurrency: 8 };
    const report = await runFuzz(target, { ...plan, maxHealthMs, maxMemoryBytes, onProgress() {} });
    return report.findings.length === 0 ? "" : writeReport(report, seed);
  }

  test(
    "responses to any request conform to the document, even if the upstream is faulty",
    seeded(async () => {
      // How an upstream fails does not depend on the database.
      const upstreams =
        database.name === "SQLite" ? (["sandbox", "faulty"] as const) : (["sandbox"] as const);
      expect((await Promise.all(upstreams.map(fuzz))).join("")).toBe("");
    }),
    600_000,
  );
});
