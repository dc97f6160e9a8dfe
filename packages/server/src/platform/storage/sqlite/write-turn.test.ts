import { expect, test } from "bun:test";
import { createWriteTurn, writerData } from "./sqlite-file.ts";

test("a turn is taken by one, and nobody waits for ever for one that is not given back", () => {
  const { turn } = writerData("/one.db");
  const first = createWriteTurn(turn);
  const second = createWriteTurn(turn);
  const state = new Int32Array(turn);
  first.take();
  second.take();
  second.give();
  expect(Atomics.load(state, 0)).toBe(1);
  first.give();
  expect(Atomics.load(state, 0)).toBe(0);
});

test("a thread that waits goes on when the turn is given", async () => {
  const { turn } = writerData("/two.db");
  const first = createWriteTurn(turn);
  first.take();
  const worker = new Worker(
    URL.createObjectURL(
      new Blob([
        `import { createWriteTurn } from ${JSON.stringify(import.meta.resolve("./sqlite-file.ts"))};
         self.onmessage = ({ data }) => { postMessage("waits"); const turn = createWriteTurn(data); turn.take(); turn.give(); postMessage("done"); };`,
      ]),
    ),
  );
  const said: string[] = [];
  const done = Promise.withResolvers<void>();
  worker.onmessage = ({ data }) => {
    said.push(data);
    if (data === "waits") first.give();
    else done.resolve();
  };
  worker.postMessage(turn);
  await done.promise;
  worker.terminate();
  expect(said).toEqual(["waits", "done"]);
  expect(Atomics.load(new Int32Array(turn), 0)).toBe(0);
});

test("threads that write one file share a turn, and those of another have their own", () => {
  expect(writerData("/three.db").turn).toBe(writerData("/three.db").turn);
  expect(writerData("/three.db").turn).not.toBe(writerData("/four.db").turn);
});

test("a thread that starts leaves others their turn, unless it replaces one that died in it", () => {
  const path = "/six.db";
  const memory = new Int32Array(writerData(path).turn);
  createWriteTurn(writerData(path).turn).take();
  writerData(path);
  expect(Atomics.load(memory, 0)).toBe(1);
  writerData(path, true);
  expect(Atomics.load(memory, 0)).toBe(0);
});

test("a thread that gives way takes its turn only when no other waits", () => {
  const { turn } = writerData("/five.db");
  const memory = new Int32Array(turn);
  const polite = createWriteTurn(turn, { givesWay: true });
  // Another thread waits.
  Atomics.add(memory, 1, 1);
  polite.take();
  expect(Atomics.load(memory, 0)).toBe(0);
  polite.give();
  Atomics.sub(memory, 1, 1);
  polite.take();
  expect(Atomics.load(memory, 0)).toBe(1);
  polite.give();
  expect([...memory]).toEqual([0, 0]);
});
