import { expect, test } from "bun:test";
import { randomInt } from "node:crypto";
import { writeReport } from "../../../fuzz/report/write-report.ts";
import { runFuzz } from "../../../fuzz/run-fuzz.ts";
import { startTarget, type UpstreamKind } from "../../../fuzz/target/start-target.ts";
import { onEachDatabase } from "./support/databases.ts";

/** Set it to what a failure names, and the same requests are made again. */
const seed = Number(process.env.PRESAGE_TEST_FUZZ_SEED ?? randomInt(2 ** 31));
const requests: Record<UpstreamKind, number> = { sandbox: 1_000, faulty: 300 };

/** With other tests beside it on two processors; `npm run fuzz`, alone on its machine, allows 300 ms. */
const maxHealthMs = 3_000;
const maxMemoryBytes = 1_000e6;

onEachDatabase((database) => {
  for (const upstream of ["sandbox", "faulty"] as const) {
    test(`requests made from the document get answers that keep to it, with an upstream that is ${upstream}`, async () => {
      await using target = await startTarget(await database.create(), upstream);
      const report = await runFuzz(target, {
        seed,
        firstIndex: 0,
        requests: requests[upstream],
        concurrency: 8,
        maxHealthMs,
        maxMemoryBytes,
        onProgress() {},
      });
      const told = report.findings.length === 0 ? "" : writeReport(report, seed);
      expect(told && `PRESAGE_TEST_FUZZ_SEED=${seed}\n${told}`).toBe("");
    });
  }
});
