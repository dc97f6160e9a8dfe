import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { composePrompt } from "@presage/contract/compose-prompt";
import type { WorldModelRequest } from "@presage/sdk";
import { programs } from "./code-tab.tsx";

const root = join(import.meta.dir, "../../../../..");
/** Characters that a shell, JavaScript or Python might misinterpret. */
const nasty = [
  `'single' "double" \`whoami\` $(whoami) $HOME \${HOME} %s \\ \\n \\u0041 !! !x # ; & | < > * ? ~`,
  "\nJSON\n'\nEOF\r\n\ttab\u0000\u001b[31m\u007f",
  "日本語 \u202e \u200f \u2028 \u2029 😀 \ud800 é \ufeff",
  "</script><!-- {{x}} */ // '''triple''' \"\"\" \\",
].join("\n");

const request: WorldModelRequest = {
  context: { environment_state: nasty, tool_schemas: '[{"name": "it\'s"}]', steering_directives: " " },
  interaction: { state: nasty, action: `say "it's ${nasty}` },
  params: {
    temperature: 0.1,
    max_tokens: 64,
    top_k: 3,
    enable_thinking: true,
    stop: ["\n\n", "'"],
    seed: null,
    logit_bias: JSON.parse('{"__proto__": -1, "a b": 1e-7, "1": {}, "$x": []}'),
  },
};

let server: ReturnType<typeof serve>;
let arrived: { path: string; key: string | null; body: string } | undefined;

beforeAll(() => {
  server = serve();
});
afterAll(() => server.stop(true));

function serve() {
  return Bun.serve({
    port: 0,
    async fetch(incoming) {
      const { headers, url } = incoming;
      const key = headers.get("x-api-key") ?? headers.get("authorization")?.replace("Bearer ", "") ?? null;
      arrived = { path: new URL(url).pathname, key, body: await incoming.text() };
      const message = { role: "assistant", content: "arrived" };
      return Response.json({ response: message, choices: [{ message }] });
    },
  });
}

function write(kind: (typeof programs)[number]["value"]): string {
  const program = programs.find(({ value }) => value === kind);
  return program?.write({ request, origin: server.url.origin, model: "a-model" }) ?? "";
}

async function run(command: string[], input: string): Promise<string> {
  arrived = undefined;
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, PRESAGE_API_KEY: "psg_key" },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(errors);
  return output;
}

test("curl, run by a shell, sends exactly the request", async () => {
  expect(await run(["sh"], await withCurl(write("curl")))).toContain("arrived");
  expect(arrived).toMatchObject({ path: "/v1/predict", key: "psg_key" });
  expect(compact(arrived?.body)).toBe(JSON.stringify(request));
});

test("the program for the SDK sends exactly the request", async () => {
  expect(await run([process.execPath, "run", "-"], write("sdk"))).toBe("arrived\n");
  expect(arrived).toMatchObject({ path: "/v1/predict", key: "psg_key" });
  expect(compact(arrived?.body)).toBe(JSON.stringify(request));
});

test("the program for OpenAI’s client sends the prompt and the parameters that the model gets", async () => {
  expect(await run([process.execPath, "run", "-"], write("openai"))).toBe("arrived\n");
  expect(arrived).toMatchObject({ path: "/v1/chat/completions", key: "psg_key" });
  expect(JSON.parse(arrived?.body ?? "")).toEqual({
    model: "a-model",
    messages: composePrompt(request.context, request.interaction),
    ...request.params,
  });
});

test("a model among the parameters is used", () => {
  const input = { request: { ...request, params: { model: "mine" } }, origin: "http://x", model: "a-model" };
  const program = programs.find(({ value }) => value === "openai");
  expect(program?.write(input)).toContain('model: "mine"');
});

test("the Python program contains the request in Python syntax", () => {
  const params = { enable_thinking: true, echo: false, seed: null, stop: ["'", '"', "\n"], bias: {} };
  const small = { interaction: { state: "$a \\ \u202e", action: "look" }, params };
  const program = programs.find(({ value }) => value === "python");
  expect(program?.write({ request: small, origin: "http://x", model: "" })).toContain(`json={
        "interaction": {
            "state": "$a \\\\ \\u202e",
            "action": "look",
        },
        "params": {
            "enable_thinking": True,
            "echo": False,
            "seed": None,
            "stop": [
                "'",
                "\\"",
                "\\n",
            ],
            "bias": {},
        },
    },`);
});

test("no program contains invisible characters", () => {
  for (const { value } of programs) {
    expect(write(value)).not.toMatch(/[^\P{Cc}\n]|[\u200e\u200f\u2028-\u202e\ufeff]/u);
  }
});

/** JSON without whitespace. */
function compact(json = ""): string {
  return JSON.stringify(JSON.parse(json));
}

/** If the machine has no curl, defines a shell function that does the same. */
async function withCurl(script: string): Promise<string> {
  if (Bun.which("curl") !== null) return script;
  const program = `const [url, , key, , type] = process.argv.slice(1);
    const headers = Object.fromEntries([key, type].map((header) => header.split(": ")));
    console.log(await (await fetch(url, { method: "POST", headers, body: await Bun.stdin.text() })).text());`;
  return `curl() { '${process.execPath}' -e '${program}' "$@"; }\n${script}`;
}
