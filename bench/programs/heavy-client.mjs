// A separate process that keeps evaluations in flight until SIGTERM. Reads its job as JSON from the file named by the first
// argument and writes the outcomes to standard output.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const agent = new Agent({ keepAlive: true, maxSockets: job.inFlight });
const outcomes = {};
const startCharacters = 2_000;
let stopping = false;

const send = (body) =>
  new Promise((resolve) => {
    const headers = { ...job.headers, "content-length": Buffer.byteLength(body) };
    const sent = request(job.url, { method: "POST", agent, headers }, (response) => {
      // The status comes before the texts, whose reading would cost more than the server's work.
      let start = "";
      response.on("data", (chunk) => {
        if (start.length < startCharacters) start += chunk.toString("latin1", 0, startCharacters);
      });
      response.on("end", () => {
        if (response.statusCode !== 200) return resolve(`status ${response.statusCode}`);
        resolve(/"status":"(\w+)"/.exec(start)?.[1] ?? "no status");
      });
    });
    sent.on("error", (error) => resolve(`${error.name}: ${error.message}`));
    sent.end(body);
  });

const keepBusy = async (_, index) => {
  for (let turn = index; !stopping; turn += 1) {
    const outcome = await send(job.bodies[turn % job.bodies.length]);
    if (!stopping) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
};

const busy = Array.from({ length: job.inFlight }, keepBusy);
process.on("SIGTERM", () => {
  // Evaluations in flight are abandoned: only their load was needed, not their responses.
  stopping = true;
  process.stdout.write(`${JSON.stringify(outcomes)}\n`, () => process.exit(0));
});
await Promise.all(busy);
