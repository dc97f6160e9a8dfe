import { expect, test } from "bun:test";
import { runPresage } from "../support/presage/run-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeRevision, storeRun } from "../support/store/store-run.ts";

const trajectories = 200;
const steps = 10;
const samples = Array.from({ length: trajectories * steps }, (_, index) => ({
  trajectory: `t${Math.floor(index / steps)}`,
  step: index % steps,
}));

/** A run that fails every fifth sample. With 7, it also fails five of every hundred others. */
function verdicts(worse: number) {
  return samples.map((_, index) => {
    const pass = index % 5 !== 0 && (index * 37) % 100 >= worse;
    return [{ verdicts: [{ pass, score: pass ? 1 : 0 }] }];
  });
}

onAnyDatabase((database) => {
  test("a model that is worse by 5 points on 200 trajectories falls short of --max-regression 1", async () => {
    const url = await database.create();
    await using opened = await openStore(url);
    const { owner } = opened;
    const revision = await storeRevision(opened.database, owner.account_id, samples);
    const store = (name: string, predictions: Parameters<typeof storeRun>[3]["predictions"]) =>
      storeRun(opened.database, owner.account_id, revision, { name, predictions });
    await store("reference", verdicts(0));
    await store("worse", verdicts(7));
    await store("equal", verdicts(0));
    const leaky = { name: "leaky", predictions: verdicts(0), isLeaky: true };
    await storeRun(opened.database, owner.account_id, revision, leaky);
    const failing = verdicts(0).map((one, index) => (index < 21 ? [{ failed: "timeout" as const }] : one));
    await store("failing", failing);
    const gate = (run: string) =>
      runPresage(["run", "--resume", run, "--against", "reference", "--max-regression", "1"], {
        PRESAGE_DATABASE_URL: url,
      });
    const worse = await gate("worse");
    expect([worse.code, worse.stderr]).toEqual([
      2,
      expect.stringMatching(/the mean score is 5\.0 points lower than the reference's \(p <0\.001\)/),
    ]);
    expect(await gate("equal")).toMatchObject({ code: 0 });
    const refused = await gate("leaky");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("was calibrated on samples")]);
    const others = await storeRevision(opened.database, owner.account_id, [
      { trajectory: "another", step: 0 },
    ]);
    const predictions = [[{ verdicts: [{ pass: true, score: 1 }] }]];
    await storeRun(opened.database, owner.account_id, others, { name: "elsewhere", predictions });
    const elsewhere = await gate("elsewhere");
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringContaining("2000 of 2000 samples have a verdict in the reference only"),
    ]);
    const failed = await gate("failing");
    expect([failed.code, failed.stderr]).toEqual([
      2,
      expect.stringContaining("21 of 2000 samples have a verdict in the reference only (1.1 %)"),
    ]);
  });
});
