import { expect, test } from "bun:test";
import { once } from "node:events";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { threadClient } from "./thread.ts";

test("A ServiceError of a thread arrives with all its parts", async () => {
  const script = `
    const { serveRequests } = await import(${JSON.stringify(import.meta.resolve("./thread.ts"))});
    const { ServiceError } = await import(${JSON.stringify(import.meta.resolve("../errors.ts"))});
    serveRequests({
      respond(retryAfterS) { throw new ServiceError("overloaded", "Later.", retryAfterS === 0 ? {} : { retryAfterS }); },
      close() {},
    });`;
  const thread = threadClient<number, never>(
    new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`)),
  );
  const overloaded = { name: "ServiceError", code: "overloaded", message: "Later." };
  await expect(thread.send(7)).rejects.toMatchObject({ ...overloaded, retryAfterS: 7 });
  await expect(thread.send(0)).rejects.toMatchObject({ ...overloaded, retryAfterS: undefined });
  await thread.end();
});

test("What is transferred to a thread arrives, and is not copied", async () => {
  const script = `
    const { serveRequests } = await import(${JSON.stringify(import.meta.resolve("./thread.ts"))});
    serveRequests({ respond: (bytes) => bytes.length, close() {} });`;
  const thread = threadClient<Uint8Array, number>(
    new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`)),
  );
  const [copied, transferred] = [new Uint8Array(5), new Uint8Array(7)];
  expect(await thread.send(copied)).toBe(5);
  expect(await thread.send(transferred, [transferred.buffer])).toBe(7);
  expect([copied.length, transferred.length]).toEqual([5, 0]);
  await thread.end();
});

test.skipIf(process.platform !== "linux")(
  "a thread in the background leaves the others as they were",
  async () => {
    const before = getPriority();
    const script = `
    import { getPriority } from "node:os";
    import { parentPort } from "node:worker_threads";
    import { workInBackground } from ${JSON.stringify(import.meta.resolve("./thread.ts"))};
    workInBackground();
    parentPort.postMessage(getPriority());`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
    const [ofWorker] = await once(worker, "message");
    expect([ofWorker, getPriority()]).toEqual([Math.max(before, 10), before]);
    await worker.terminate();
  },
);
