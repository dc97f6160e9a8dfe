/** Layouts for which lines are generated: the same line for the same number. */
export type TraceFormat = "chat" | "openai-chat" | "otel-genai";

/** Numbers from 0 to 1 (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
type Random = ReturnType<typeof randomOf>;

const pieces = [
  "I will look at the failing test first, then at the function that it calls. ",
  "Voilà : le fichier « réglages.toml » n'existe pas ; je le crée. ",
  "テストは三つ失敗しました。ログを確認してください。",
  "The build passed ✅ but 2 warnings remain 🤔. ",
  'def load(path: str) -> dict:\n\t"""Reads the file."""\n\twith open(path, encoding="utf-8") as file:\n\t\treturn json.load(file)\n',
  "total 48\ndrwxr-xr-x  6 root root 4096 Jan  3 10:12 .\n-rw-r--r--  1 root root 1823 Jan  3 10:11 README.md\n",
  '{"status":"ok","items":[{"id":17,"name":"lamp \\"A\\"","price":12.5},{"id":18,"name":"cup","price":3}]}\n',
  "C:\\Users\\agent\\project\\src\\main.rs:42:17: error[E0382]: borrow of moved value: `config`\n",
  "GET https://example.test/api/v2/orders?page=3&size=50 -> 200 in 143 ms\n",
  "Traceback (most recent call last):\n  File \"app.py\", line 88, in <module>\n    main()\nKeyError: 'token'\n",
  "\u001b[32m✓\u001b[0m renders the header (3 ms)\n\u001b[31m✗\u001b[0m keeps the cart → expected 2, got 1\n",
  "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: A. Müller <mueller@example.test>\n",
];
/** One in a hundred texts contains a secret. */
const secret = "Authorization: Bearer not-a-real-key-0123456789\n";

const textOf = (random: Random, characters: number): string => {
  let text = random() < 0.01 ? secret : "";
  while (text.length < characters) text += pieces[Math.floor(random() * pieces.length)];
  return text;
};

const tools = ["bash", "read_file", "edit_file", "search"].map((name) => ({
  type: "function",
  function: {
    name,
    description: `Runs ${name} in the sandbox and gives what it says.`,
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, text: { type: "string" } },
      required: ["path"],
    },
  },
}));
const system =
  "You are an agent in a sandbox. Use the tools, one after the other, until the task is done. ".repeat(4);

const callOf = (random: Random, id: string) => ({
  id,
  name: tools[Math.floor(random() * tools.length)]?.function.name ?? "",
  arguments: JSON.stringify({
    path: `src/möbel/${Math.floor(random() * 1e6)}.ts`,
    text: textOf(random, 120),
  }),
});

/** A line has 2 to 20 kB. */
const bytesOf = (random: Random) => 1_000 + random() * 12_000;

const chatLine = (index: number): string => {
  const random = randomOf(index);
  const turns = 2 + Math.floor(random() * 8);
  const each = bytesOf(random) / turns;
  const messages = [{ role: "system", content: system }];
  for (let turn = 0; turn < turns; turn += 1)
    messages.push(
      { role: "user", content: textOf(random, 60) },
      { role: "assistant", content: textOf(random, each) },
    );
  return JSON.stringify({ id: `chat-${index}`, messages });
};

const openAiLine = (index: number): string => {
  const random = randomOf(index);
  const turns = 2 + Math.floor(random() * 10);
  const each = (bytesOf(random) - 1_000) / turns;
  const messages: object[] = [
    { role: "system", content: system },
    { role: "user", content: textOf(random, 300) },
  ];
  for (let turn = 0; turn < turns; turn += 1) {
    const { id, ...called } = callOf(random, `call_${index}_${turn}`);
    const content = turn % 3 === 0 ? textOf(random, 80) : null;
    messages.push(
      { role: "assistant", content, tool_calls: [{ id, type: "function", function: called }] },
      { role: "tool", tool_call_id: id, content: textOf(random, each) },
    );
  }
  messages.push({ role: "assistant", content: "Done. " });
  return JSON.stringify({ id: `run-${index}`, tools, messages, reward: index % 2 });
};

const stepsOfTrace = 6;
/** The number of traces that are recorded concurrently. */
const besideEachOther = 8;

/** A step of a trace: a model's call, which has all messages so far, and the tool's. */
const otelLine = (index: number): string => {
  const step = Math.floor(index / besideEachOther) % stepsOfTrace;
  const trace =
    Math.floor(index / (besideEachOther * stepsOfTrace)) * besideEachOther + (index % besideEachOther);
  const random = randomOf(trace);
  const input: object[] = [{ role: "user", parts: [{ type: "text", content: textOf(random, 300) }] }];
  for (let at = 0; ; at += 1) {
    const call = callOf(random, `call_${trace}_${at}`);
    const said = { role: "assistant", parts: [{ type: "tool_call", ...call }] };
    const response = textOf(random, 400 + random() * 2_400);
    if (at === step) return exportOf(trace, step, { input, said, call, response });
    input.push(said, { role: "tool", parts: [{ type: "tool_call_response", id: call.id, response }] });
  }
};

interface Made {
  input: object[];
  said: object;
  call: { id: string; name: string; arguments: string };
  response: string;
}

const exportOf = (trace: number, step: number, { input, said, call, response }: Made): string => {
  const traceId = trace.toString(16).padStart(32, "0");
  const at = 1_767_225_600_000_000_000n + BigInt(trace * 60 + step * 4) * 1_000_000_000n;
  const span = (name: string, order: number, attributes: Record<string, string | number>) => ({
    traceId,
    spanId: (trace * 100 + step * 2 + order).toString(16).padStart(16, "0"),
    parentSpanId: "00f067aa0ba902b7",
    name,
    kind: 3,
    startTimeUnixNano: String(at + BigInt(order) * 2_000_000_000n),
    endTimeUnixNano: String(at + BigInt(order) * 2_000_000_000n + 900_000_000n),
    attributes: Object.entries(attributes).map(([key, value]) => ({
      key,
      value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
    })),
    status: {},
  });
  const spans = [
    span("chat sim-1", 0, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "sim-1",
      "gen_ai.response.model": "sim-1-2026",
      "gen_ai.usage.input_tokens": 1_000 + step,
      "gen_ai.usage.output_tokens": 100,
      "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: system }]),
      "gen_ai.input.messages": JSON.stringify(input),
      "gen_ai.output.messages": JSON.stringify([said]),
    }),
    span(`execute_tool ${call.name}`, 1, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": call.name,
      "gen_ai.tool.call.id": call.id,
      "gen_ai.tool.call.arguments": call.arguments,
      "gen_ai.tool.call.result": response,
    }),
  ];
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "agent" } }] };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "bench", version: "1" }, spans }] }],
  });
};

const lineOf = { chat: chatLine, "openai-chat": openAiLine, "otel-genai": otelLine } as const;

/** Writes a file of at least this many bytes: lines, or one array of them. */
export const writeTraces = async (
  path: string,
  format: TraceFormat,
  bytes: number,
  isArray: boolean,
): Promise<void> => {
  const file = Bun.file(path).writer({ highWaterMark: 1024 * 1024 });
  let written = 0;
  for (let index = 0; written < bytes; index += 1) {
    const before = index > 0 ? "," : "[";
    const line = `${isArray ? before : ""}${lineOf[format](index)}\n`;
    written += Buffer.byteLength(line);
    file.write(line);
    if (index % 500 === 0) await file.flush();
  }
  file.write(isArray ? "]\n" : "");
  await file.end();
};
