// A separate process that plays sessions as a training run does: each takes its steps one after the other on its own socket.
// It runs on Node, because Bun's client only keeps 64 idle sockets. For policies other than Presage's own, it chooses the replica itself and
// names it in a header, so that every policy goes through the same server. Reads its job as JSON from standard input and writes what
// became of each step to standard output.
import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const job = await json(process.stdin);
const { policy, deployments, prompts, sessions, steps, durationMs, pauseMs, thinkMs } = job;
const agent = new Agent({ keepAlive: true, maxSockets: sessions, maxFreeSockets: sessions });
const untilMs = durationMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + durationMs;

const inFlight = deployments.map(() => 0);
let turn = 0;
const draw = () => Math.floor(Math.random() * deployments.length);
const lessLoaded = (one, other) => (inFlight[other] < inFlight[one] ? other : one);

/** FNV-1a, and a multiplication that spreads its bits. */
const hash = (text) => {
  let hashed = 0x811c9dc5;
  for (const character of text) hashed = Math.imul(hashed ^ character.charCodeAt(0), 0x01000193);
  return (Math.imul(hashed, 0x9e3779b1) ^ (hashed >>> 15)) >>> 0;
};

const policies = {
  presage: () => 0,
  random: draw,
  "round robin": () => turn++ % deployments.length,
  "least in flight": () => {
    // Ties go to any of them, not always to the first.
    const start = draw();
    return deployments.map((_, place) => (place + start) % deployments.length).reduce(lessLoaded);
  },
  "power of two": () => lessLoaded(draw(), draw()),
  "hash of the session": (session) => hash(session) % deployments.length,
};
const choose = policies[policy];

const send = (body, headers) =>
  new Promise((resolve) => {
    const sent = request(job.url, { method: "POST", agent, headers }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", () => resolve({ status: 0 }));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const answerer = /"system_fingerprint":"(\d+)"/.exec(text)?.[1];
        resolve({ status: response.statusCode, answerer: answerer === undefined ? 0 : Number(answerer) });
      });
    });
    sent.on("error", () => resolve({ status: 0, answerer: 0 }));
    sent.end(body);
  });

const words = (seed, length) =>
  `${seed} The kitchen has a door, a table and a cupboard. `.repeat(length / 40).slice(0, length);
const message = (role, content) => JSON.stringify({ role, content });
const answer = message("assistant", "The door is open.");

const systemOf = (session) => words(prompts.shared ? "shared" : session, prompts.systemCharacters);

const events = [];
const play = async (place) => {
  for (let trajectory = 0; Date.now() < untilMs; trajectory += 1) {
    const session = `rollout-${job.run}-${place}-${trajectory}`;
    const system = message("system", systemOf(session));
    let turns = [system, message("user", `Task ${session}: open the door.`)];
    for (let step = 0; step < steps && Date.now() < untilMs; step += 1) {
      const body = `{"temperature":0,"messages":[${turns.join(",")}]}`;
      const chosen = choose(session);
      const headers = { ...job.headers, "content-length": Buffer.byteLength(body) };
      if (prompts.sendsSession) headers["x-session-id"] = session;
      headers["x-presage-deployment"] = deployments[chosen];
      inFlight[chosen] += 1;
      const beganAtMs = performance.now();
      const { status, answerer } = await send(body, headers);
      inFlight[chosen] -= 1;
      events.push([Date.now(), place, status, answerer, performance.now() - beganAtMs]);
      // Without the pause, a session that got an answer would find its own replica to be the least loaded.
      await sleep(status === 200 ? Math.random() * 2 * thinkMs : pauseMs);
      const next = message("user", words(`Step ${step} of ${session}`, prompts.stepCharacters));
      if (prompts.grows) turns.push(answer, next);
      else turns = [system, next];
    }
    if (durationMs === undefined) return;
  }
};

const beganAtMs = performance.now();
await Promise.all(Array.from({ length: sessions }, (_, place) => play(place)));
process.stdout.write(JSON.stringify({ durationMs: performance.now() - beganAtMs, events }));
agent.destroy();
