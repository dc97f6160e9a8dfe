// A separate process that keeps many predictions in flight: each rollout has a socket and sends its steps on it one after
// the other, as an agent does. It runs on Node, because Bun's client only keeps 64 idle sockets and would spend the run
// connecting. Reads its job as JSON from standard input and writes the outcome to standard output.
import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";

const job = await json(process.stdin);
const agent = new Agent({ keepAlive: true, maxSockets: job.rollouts, maxFreeSockets: job.rollouts });
const options = { method: "POST", agent, signal: AbortSignal.timeout(job.deadlineMs) };
options.headers = { ...job.headers, "content-length": Buffer.byteLength(job.body) };

const send = () =>
  new Promise((resolve) => {
    const sent = request(job.url, options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", (error) => resolve(`${error.name}: ${error.message}`));
      response.on("end", () => {
        const complete = response.statusCode === 200 && Buffer.concat(chunks).includes(job.expect);
        resolve(complete ? "ok" : `status ${response.statusCode}: ${Buffer.concat(chunks).subarray(0, 200)}`);
      });
    });
    sent.on("error", (error) => resolve(`${error.name}: ${error.message}`));
    sent.end(job.body);
  });

const failures = {};
let succeeded = 0;
let slowestMs = 0;
const rollOut = async () => {
  for (let step = 0; step < job.steps; step += 1) {
    const startedAtMs = performance.now();
    const outcome = await send();
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    if (outcome === "ok") succeeded += 1;
    else failures[outcome] = (failures[outcome] ?? 0) + 1;
  }
};

// All of them listen to the same signal.
process.setMaxListeners(0);
const startedAtMs = performance.now();
await Promise.all(Array.from({ length: job.rollouts }, rollOut));
const durationMs = performance.now() - startedAtMs;
process.stdout.write(`${JSON.stringify({ succeeded, failures, durationMs, slowestMs })}\n`);
agent.destroy();
