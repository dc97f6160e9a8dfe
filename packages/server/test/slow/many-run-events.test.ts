import { expect, test } from "bun:test";
import { connect } from "node:net";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { makeKey, makeUser } from "../support/sign-in/make-user.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** The events as they arrive. Without fetch, which opens 256 connections. */
function openStream(url: string, runId: string, headers: Record<string, string>) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const stream = { socket, text: "", isClosed: false };
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket
    .on("error", () => {})
    .on("close", () => {
      stream.isClosed = true;
    });
  socket.on("data", (bytes) => {
    stream.text += bytes;
  });
  socket.write(`GET /v1/runs/${runId}/events HTTP/1.1\r\n${lines.join("")}\r\n`);
  return stream;
}

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    get PRESAGE_UPSTREAM_URL() {
      return upstream.url;
    },
  });

  test("more streams of a run than an account may have reads waiting stay open, and leave its other reads alone", async () => {
    const gate = Promise.withResolvers<void>();
    upstream.answer = async () => {
      await gate.promise;
      return Response.json(completion("n"));
    };
    const dataset_id = await datasetClient(presage).create();
    const sample = { trajectory_id: "t", step: 0, interaction: { state: "s", action: "a" }, next_state: "n" };
    await datasetClient(presage).uploadNew(dataset_id, [sample]);
    const run = await runClient(presage).create({ dataset_id, target: { deployment: "default" } });
    await using store = await openStore(presage.databaseUrl);
    const keys = [];
    // A user has at most ten streams.
    for (let user = 0; user < 150; user += 1)
      keys.push(await makeKey(store, await makeUser(store, "viewer")));
    const streams: ReturnType<typeof openStream>[] = [];
    for (const key of keys) {
      for (let stream = 0; stream < 10; stream += 1) streams.push(openStream(presage.url, run.id, key));
      await eventually(
        () => streams.slice(-10).every(({ text }) => text.includes("event: run")),
        (haveBegun) => haveBegun,
        10_000,
      );
    }
    for (let read = 0; read < 20; read += 1) {
      expect((await presage.call("GET", `/v1/runs/${run.id}`)).status).toBe(200);
      await Bun.sleep(100);
    }
    gate.resolve();
    await eventually(
      () => streams.every(({ text, isClosed }) => isClosed || text.endsWith("0\r\n\r\n")),
      (haveEnded) => haveEnded,
      30_000,
    );
    const ends = streams.map(
      ({ text }) => text.includes('"status":"finished"') && text.endsWith("0\r\n\r\n"),
    );
    expect(ends.filter((isWhole) => isWhole)).toHaveLength(1_500);
    for (const { socket } of streams) socket.destroy();
  }, 300_000);
});
