import { expect, test } from "bun:test";
import { seeded } from "../../../test/support/seeded.ts";
import { createPairs, shareFigure } from "../../platform/statistics/agreement.ts";
import { reportDone, said } from "./ends.ts";
import { createTexts, inTrajectories } from "./samples.ts";

const sums = (counts: object) => Object.values(counts).reduce<number>((sum, one) => sum + one, 0);

test(
  "The four counts add up, and the shares are those of pairs of labels",
  seeded(async (draw) => {
    for (let round = 0; round < 200; round++) {
      const count = 1 + draw.below(40);
      const repeats = 1 + draw.below(3);
      const trajectories = createTexts(count);
      const step = new Float64Array(count);
      for (let index = 0; index < count; index++) {
        trajectories.set(index, `trajectory ${draw.below(8)}`);
        step[index] = index % 5;
      }
      const recorded = Int8Array.from({ length: count }, () => -1 + draw.below(3));
      const predicted = Int8Array.from({ length: count * repeats }, () => -2 + draw.below(4));
      const none = createTexts(count);
      const samples = {
        ...{ count, trajectories, step, verbs: none, tags: none, changes: new Int32Array(count) },
        order: inTrajectories(trajectories, step),
      };
      const rewards = (length: number) => new Float64Array(length).fill(Number.NaN);
      const done = await reportDone(samples, {
        recorded: { done: recorded, reward: rewards(count) },
        predicted: { done: predicted, reward: rewards(count * repeats) },
      });

      const pairs = createPairs();
      let without = 0;
      for (const [at, one] of predicted.entries()) {
        const index = Math.floor(at / repeats);
        const other = recorded[index];
        if (other === said.nothing || one === said.noPrediction) continue;
        if (one === said.nothing) without += 1;
        else pairs.add(trajectories.of[index] ?? 0, { first: one === said.end, second: other === said.end });
      }
      const { counts, agreement, false_ends, missed_ends } = done;
      const { both, only_predicted, only_recorded } = counts;
      expect(done.without).toBe(without);
      expect(sums(counts)).toBe(agreement.count);
      expect(both + only_predicted).toBe(false_ends.count);
      expect(both + only_recorded).toBe(missed_ends.count);
      expect(done.step.reduce((sum, one) => sum + sums(one.counts), 0)).toBe(agreement.count);
      for (const one of done.step) expect(sums(one.counts)).toBe(one.agreement.count);

      const cells = ["bothPass", "onlyFirst", "onlySecond", "bothFail"] as const;
      for (const [figure, hit, of] of [
        [agreement, ["bothPass", "bothFail"], cells],
        [false_ends, ["onlyFirst"], ["bothPass", "onlyFirst"]],
        [missed_ends, ["onlySecond"], ["bothPass", "onlySecond"]],
      ] as const) {
        const { interval, ...expected } = shareFigure(pairs.end(), {
          ...{ hit, of, isWeighted: false },
          why: figure.note ?? "",
        });
        expect({ ...figure, interval: null }).toEqual({ ...expected, interval: null });
        expect(figure.interval?.lower ?? 0).toBeCloseTo(interval?.lower ?? 0, 9);
        expect(figure.interval?.upper ?? 0).toBeCloseTo(interval?.upper ?? 0, 9);
      }
    }
  }),
);
