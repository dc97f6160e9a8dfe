import { describe, expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeEnvironment } from "../../support/node-environment.ts";
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { pythonEnvironment } from "../../support/python/python-environment.ts";
import { completion, type ReceivedRequest } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

/** Public clients by the name of their program, with the packages to install for it. */
const clients: Record<string, { language: "python" | "node"; packages: string[] }> = {
  "openai-node": { language: "node", packages: ["openai@7.57.0"] },
  "ai-sdk": { language: "node", packages: ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "zod@4.3.6"] },
  "openai-python": { language: "python", packages: ["openai==3.54.0"] },
  "pydantic-ai": { language: "python", packages: ["pydantic-ai-slim[openai]==2.68.0"] },
  "openai-agents": { language: "python", packages: ["openai-agents==0.24.0"] },
  langchain: { language: "python", packages: ["langchain-openai==1.7.3"] },
  litellm: { language: "python", packages: ["litellm[mcp]==1.106.2"] },
};
/** The clients that install fastest, in 3 s each. `npm run check:clients` tries all, or those that it is given. */
const cheapest = "openai-node,ai-sdk";
const { PRESAGE_TEST_CLIENTS: asked = cheapest } = process.env;
const chosen = asked === "all" ? Object.keys(clients) : asked.split(",");

/** Settings that turn off telemetry. */
const offline = {
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  LITELLM_TELEMETRY: "False",
};

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CHAT_COMPATIBILITY: "openai" });

/** A model that calls the temperature tool if it has one, and then says the result. */
function answer({ body: { messages, tools } }: ReceivedRequest): Response {
  const last = messages.at(-1);
  if (last?.role === "tool") return Response.json(completion(`It is ${last.content} degrees in Oslo.`));
  if (!Array.isArray(tools)) return Response.json(completion("The door is open."));
  const called = { name: "temperature", arguments: '{"city":"Oslo"}' };
  const message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: called }],
  };
  return Response.json(completion(null, { choices: [{ index: 0, message, finish_reason: "tool_calls" }] }));
}

/** The command that runs a client's program; undefined where it cannot be installed. */
async function commandOf(name: string): Promise<string[] | undefined> {
  const client = clients[name];
  if (client === undefined)
    throw new Error(`No client is named ${name}: ${Object.keys(clients).join(", ")}.`);
  const program = join(import.meta.dir, "openai", name);
  if (client.language === "python") {
    const python = await pythonEnvironment(client.packages);
    return python === undefined ? undefined : [python, `${program}.fixture.py`];
  }
  const folder = await nodeEnvironment(client.packages);
  if (folder === undefined) return undefined;
  // Node.js finds packages next to the program.
  await copyFile(`${program}.fixture.mjs`, join(folder, "program.mjs"));
  return ["node", join(folder, "program.mjs")];
}

for (const name of chosen) {
  const command = await commandOf(name);

  describe.skipIf(command === undefined)(name, () => {
    test("chats, streams, calls a tool, and shows the status of an error", async () => {
      upstream.answer = answer;
      const child = Bun.spawn(command ?? [], {
        env: {
          ...process.env,
          ...offline,
          OPENAI_BASE_URL: `${presage.url}/v1`,
          OPENAI_API_KEY: testKey,
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect({ code: await child.exited, output: output || errors }).toMatchObject({ code: 0 });
      expect(JSON.parse(output.trim().split("\n").at(-1) ?? "")).toEqual({
        plain: "The door is open.",
        streamed: "The door is open.",
        tool: "It is 21 degrees in Oslo.",
        statuses: [401, 401],
      });
    });
  });
}
