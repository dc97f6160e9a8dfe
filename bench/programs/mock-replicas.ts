// Model servers that keep the prefixes of their latest trajectories in memory: run as a separate process, one replica for each
// port. A step takes 20 ms and 1 ms for each 1,000 characters of its prompt that are not in memory. A replica works on a few at
// once, like an engine's running batch; the others wait for their turn.

interface Chat {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

interface Lookup {
  /** Characters of the prompt that have to be computed. */
  readonly missing: number;
  /** Whether everything up to the latest turn is in memory. Undefined for the first step of a trajectory, which has nothing before it. */
  readonly isHit: boolean | undefined;
}

/** The earlier prompts that a model server keeps: the latest trajectories and their system turns, which trajectories share. */
interface PrefixMemory {
  look(chat: Chat): Lookup;
  /** After a response: the prompt is in memory. */
  keep(chat: Chat): void;
  clear(): void;
}

interface Prompt {
  readonly system: string;
  readonly trajectory: string;
  readonly systemLength: number;
  readonly length: number;
  /** The prompt's length up to the latest response. */
  readonly previousLength: number;
}

const createPrefixMemory = (trajectories: number): PrefixMemory => {
  /** Prompts by trajectory, the least recently used first. */
  const kept = new Map<string, Prompt>();

  return {
    look: (chat) => {
      const { system, trajectory, systemLength, length, previousLength } = read(chat);
      const known = kept.get(trajectory)?.length ?? 0;
      const isFirst = chat.messages.length <= 2;
      if (known > 0) return { missing: length - known, isHit: isFirst ? undefined : known >= previousLength };
      const isShared = kept.values().some((prompt) => prompt.system === system);
      return { missing: length - (isShared ? systemLength : 0), isHit: isFirst ? undefined : false };
    },
    keep: (chat) => {
      const prompt = read(chat);
      kept.delete(prompt.trajectory);
      kept.set(prompt.trajectory, prompt);
      const [oldest] = kept.keys();
      if (kept.size > trajectories && oldest !== undefined) kept.delete(oldest);
    },
    clear: () => kept.clear(),
  };
};

/** A trajectory is known by its system turn and its first user turn. */
const read = ({ messages }: Chat): Prompt => {
  const lengthOf = (some: Chat["messages"]) => some.reduce((sum, { content }) => sum + content.length, 0);
  const [system, task] = messages.map(({ content }) => Bun.hash(content).toString(36));
  return {
    system: system ?? "",
    trajectory: `${system} ${task}`,
    systemLength: messages[0]?.content.length ?? 0,
    length: lengthOf(messages),
    previousLength: lengthOf(messages.slice(0, -2)),
  };
};

const stepMs = 20;
const msPerCharacter = 1 / 1_000;
const sampleEveryMs = 20;

const [batch = 1, trajectories = 1, ...ports] = process.argv.slice(2).map(Number);
const headers = { "content-type": "application/json" };
const models = {
  object: "list",
  data: [{ id: "mock", object: "model", created: 1767225600, owned_by: "bench" }],
};

const counted = { steps: 0, repeats: 0, hits: 0 };
const clear = (): void => {
  Object.assign(counted, { steps: 0, repeats: 0, hits: 0 });
  samples = [];
  for (const { memory } of replicas) memory.clear();
};

/** Requests in flight at each replica, over time. */
let samples: number[][] = [];

const startReplica = (port: number) => {
  const memory = createPrefixMemory(trajectories);
  const replica = { memory, inFlight: 0, slowness: 1 };
  const waiting: (() => void)[] = [];
  let working = 0;

  const work = async (chat: Chat): Promise<void> => {
    if (working < batch) working += 1;
    else await new Promise<void>((begin) => waiting.push(begin));
    const { missing, isHit } = memory.look(chat);
    counted.steps += 1;
    if (isHit !== undefined) counted.repeats += 1;
    if (isHit === true) counted.hits += 1;
    await Bun.sleep((stepMs + missing * msPerCharacter) * replica.slowness);
    memory.keep(chat);
    // The slot goes to the request that waited longest.
    const next = waiting.shift();
    if (next === undefined) working -= 1;
    else next();
  };

  const choices = [
    { index: 0, message: { role: "assistant", content: "The door is open." }, finish_reason: "stop" },
  ];
  const answer = JSON.stringify({
    id: "chat",
    object: "chat.completion",
    system_fingerprint: `${port}`,
    choices,
  });
  Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 255,
    routes: {
      "/v1/models": () => Response.json(models),
      "/v1/chat/completions": {
        POST: async (request) => {
          replica.inFlight += 1;
          try {
            await work((await request.json()) as Chat);
          } finally {
            replica.inFlight -= 1;
          }
          return new Response(answer, { headers });
        },
      },
      "/control/clear": () => {
        clear();
        return new Response();
      },
      "/control/slow": (request) => {
        replica.slowness = Number(new URL(request.url).searchParams.get("times"));
        return new Response();
      },
      "/control/read": () => Response.json({ ...counted, samples }),
    },
    fetch: () => new Response(null, { status: 404 }),
  });
  return replica;
};

const replicas = ports.map(startReplica);
setInterval(() => samples.push(replicas.map(({ inFlight }) => inFlight)), sampleEveryMs);

// Makes this file a module, so that its names are not global.
export {};
