import { composePrompt } from "@presage/contract/compose-prompt";
import type { WorldModelRequest } from "@presage/sdk";
import { useState } from "react";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { Segmented } from "../../ui/form/choices.tsx";

export function CodeTab({ input }: { input: ProgramInput }) {
  const [chosen, setChosen] = useState<Program>("curl");
  const { label, language, write } = programs.find(({ value }) => value === chosen) ?? programs[0];
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="overflow-x-auto">
        <Segmented label="Language" value={chosen} options={programs} onChange={(next) => setChosen(next)} />
      </div>
      <CodeBlock code={write(input)} label={label} language={language} />
      <p className="text-xs text-ink-3">
        The key comes from the environment variable <code className="font-mono">PRESAGE_API_KEY</code>. The
        request is the current input.
      </p>
    </div>
  );
}

type Program = (typeof programs)[number]["value"];

/** The request as programs, which read the API key from the environment. */
export const programs = [
  { value: "curl", label: "curl", language: "shell", write: writeCurl },
  { value: "sdk", label: "TypeScript", language: "typescript", write: writeSdk },
  { value: "openai", label: "TypeScript, OpenAI client", language: "typescript", write: writeOpenAi },
  { value: "python", label: "Python", language: "python", write: writePython },
] as const;

interface ProgramInput {
  request: WorldModelRequest;
  /** Scheme, host and port of the server. */
  origin: string;
  model: string;
  /** The deployment to ask, unless it is the default one. */
  deployment?: string | undefined;
}

/** Uses a quoted here-document, which the shell leaves unchanged and which may be longer than an argument. */
function writeCurl({ request, origin, deployment }: ProgramInput): string {
  const header = deployment === undefined ? "" : `  -H 'X-Presage-Deployment: ${deployment}' \\\n`;
  return `curl '${origin}/v1/predict' \\
${header}  -H "X-API-KEY: $PRESAGE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- <<'JSON'
${readableJson(request, 2)}
JSON
`;
}

function writeSdk({ request, origin, deployment }: ProgramInput): string {
  const options = deployment === undefined ? "" : `, { deployment: ${readableJson(deployment)} }`;
  return `import { createPresage } from "@presage/sdk";

const presage = createPresage({
  baseUrl: ${readableJson(origin)},
  apiKey: process.env.PRESAGE_API_KEY,
});

const prediction = await presage.predict(${writeValue(request, javaScript)}${options});
console.log(prediction.response.content);
`;
}

function writeOpenAi({ request, origin, model }: ProgramInput): string {
  const { max_tokens, temperature, top_p, model: ownModel, messages: _, ...further } = { ...request.params };
  const known = {
    model: typeof ownModel === "string" ? ownModel : model,
    messages: composePrompt(request.context, request.interaction),
    max_tokens,
    temperature,
    top_p,
  };
  const hasFurther = Object.keys(further).length > 0;
  const body = writeValue(known, javaScript);
  return `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${readableJson(`${origin}/v1`)},
  apiKey: process.env.PRESAGE_API_KEY,
});
${hasFurther ? `\n// Parameters that the client’s types do not name.\nconst further = ${writeValue(further, javaScript)};\n` : ""}
const completion = await client.chat.completions.create(${hasFurther ? body.replace("{\n", "{\n  ...further,\n") : body});
console.log(completion.choices[0]?.message.content);
`;
}

function writePython({ request, origin, deployment }: ProgramInput): string {
  const header = deployment === undefined ? "" : `, "X-Presage-Deployment": ${readableJson(deployment)}`;
  return `import os

import requests

response = requests.post(
    ${readableJson(`${origin}/v1/predict`)},
    headers={"X-API-KEY": os.environ["PRESAGE_API_KEY"]${header}},
    json=${writeValue(request, python, 1)},
    timeout=130,
)
response.raise_for_status()
print(response.json()["response"]["content"])
`;
}

/** A JSON value in a language. `depth` is the indentation of its first line. */
function writeValue(value: unknown, language: Language, depth = 0): string {
  if (value === null || typeof value === "boolean") return language.word(value);
  if (typeof value !== "object") return readableJson(value);
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => writeValue(item, language, depth + 1))]
    : [
        "{",
        "}",
        entriesOf(value).map(
          ([name, item]) => `${language.key(name)}: ${writeValue(item, language, depth + 1)}`,
        ),
      ];
  if (items.length === 0) return open + close;
  const margin = language.indent.repeat(depth + 1);
  const lines = items.map((item) => `${margin}${item},\n`).join("");
  return `${open}\n${lines}${language.indent.repeat(depth)}${close}`;
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}

interface Language {
  indent: string;
  key(name: string): string;
  word(value: null | boolean): string;
}

const identifier = /^[A-Za-z_$][\w$]*$/;

const javaScript: Language = {
  indent: "  ",
  key: (name) => {
    // In any other notation, this key would set the object's prototype.
    if (name === "__proto__") return '["__proto__"]';
    return identifier.test(name) ? name : readableJson(name);
  },
  word: String,
};

const words = new Map<null | boolean, string>([
  [null, "None"],
  [true, "True"],
  [false, "False"],
]);

/** Python's strings have the same escapes as JSON. */
const python: Language = {
  indent: "    ",
  key: (name) => readableJson(name),
  word: (value) => words.get(value) ?? "None",
};

/** Characters that are invisible, or change how the text around them is displayed. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** JSON with unseen characters escaped, so that copied code is what it looks like. */
function readableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
