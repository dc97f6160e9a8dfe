/** Run as a separate process: an upstream that responds immediately at almost no cost. Its port is the argument. */
import { completion } from "./upstream.ts";

const answer = JSON.stringify(completion("The door is open."));
const models = JSON.stringify({ object: "list", data: [{ id: "test-model", object: "model" }] });
const headers = { "content-type": "application/json" };

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  idleTimeout: 255,
  async fetch(request) {
    if (request.method === "GET") return new Response(models, { headers });
    await request.arrayBuffer();
    return new Response(answer, { headers });
  },
});
