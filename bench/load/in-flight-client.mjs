// A process of its own that holds many predictions in flight: each rollout has a socket and takes its steps on it one after
// the other, as an agent does. It runs on Node, because Bun's client keeps only 64 idle sockets and would spend the run
// on connecting. Reads its order as JSON from standard input, writes what came of it to standard output.
import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";

const order = await json(process.stdin);
const agent = new Agent({ keepAlive: true, maxSockets: order.rollouts, maxFreeSockets: order.rollouts });
const options = { method: "POST", agent, signal: AbortSignal.timeout(order.deadlineMs) };
options.headers = { ...order.headers, "content-length": Buffer.byteLength(order.body) };

const send = () =>
  new Promise((resolve) => {
    const sent = request(order.url, options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", (error) => resolve(`${error.name}: ${error.message}`));
      response.on("end", () => {
        const complete = response.statusCode === 200 && Buffer.concat(chunks).includes(order.expect);
        resolve(complete ? "ok" : `status ${response.statusCode}: ${Buffer.concat(chunks).subarray(0, 200)}`);
      });
    });
    sent.on("error", (error) => resolve(`${error.name}: ${error.message}`));
    sent.end(order.body);
  });

const failures = {};
let succeeded = 0;
let slowestMs = 0;
const rollOut = async () => {
  for (let step = 0; step < order.steps; step += 1) {
    const startedAtMs = performance.now();
    const outcome = await send();
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    if (outcome === "ok") succeeded += 1;
    else failures[outcome] = (failures[outcome] ?? 0) + 1;
  }
};

// Each of the many waits on the one signal.
process.setMaxListeners(0);
const startedAtMs = performance.now();
await Promise.all(Array.from({ length: order.rollouts }, rollOut));
const durationMs = performance.now() - startedAtMs;
process.stdout.write(`${JSON.stringify({ succeeded, failures, durationMs, slowestMs })}\n`);
agent.destroy();
