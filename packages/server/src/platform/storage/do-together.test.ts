import { expect, test } from "bun:test";
import { doTogether } from "./batches.ts";

test("what is added during a write shares the next one, and each call gets its own result", async () => {
  const batches: number[][] = [];
  const first = Promise.withResolvers<void>();
  const add = doTogether<number, string>(async (items) => {
    batches.push([...items]);
    if (batches.length === 1) await first.promise;
    return items.map((item) => `stored ${item}`);
  });
  const one = add(1);
  await Bun.sleep(0);
  const others = [add(2), add(3)];
  first.resolve();
  expect(await Promise.all([one, ...others])).toEqual(["stored 1", "stored 2", "stored 3"]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("a write that fails rejects its own calls only", async () => {
  const add = doTogether<number, number>(async (items) => {
    if (items.includes(1)) throw new Error("full");
    return items;
  });
  expect(add(1)).rejects.toThrow("full");
  await Bun.sleep(0);
  expect(await add(2)).toBe(2);
});
