/** Run as a separate process: an upstream that responds at almost no cost. Its arguments are the port and the delay in milliseconds. */
import { upstreamHost } from "./as-replicas.ts";
import { completion } from "./upstream.ts";

const [port, delayMs] = process.argv.slice(2).map(Number);
const answer = JSON.stringify(completion("The door is open.", { system_fingerprint: String(port) }));
const models = JSON.stringify({ object: "list", data: [{ id: "test-model", object: "model" }] });
const headers = { "content-type": "application/json" };

Bun.serve({
  hostname: upstreamHost,
  port: port ?? 0,
  idleTimeout: 255,
  async fetch(request) {
    if (request.method === "GET") return new Response(models, { headers });
    await request.arrayBuffer();
    if (delayMs !== undefined && delayMs > 0) await Bun.sleep(delayMs);
    return new Response(answer, { headers });
  },
});
