import { composePrompt } from "@presage/contract/compose-prompt";
import type { WorldModelRequest } from "@presage/sdk";
import { readableJson, toJavaScript, toPython } from "./write-literal.ts";

export interface ProgramInput {
  request: WorldModelRequest;
  /** Scheme, host and port of the server. */
  origin: string;
  model: string;
  /** The deployment that is asked, if it is not the default one. */
  deployment?: string | undefined;
}

/** The request as programs, which read the API key from the environment. */
export const programs = [
  { value: "curl", label: "curl", language: "shell", write: writeCurl },
  { value: "sdk", label: "TypeScript", language: "typescript", write: writeSdk },
  { value: "openai", label: "TypeScript, OpenAI client", language: "typescript", write: writeOpenAi },
  { value: "python", label: "Python", language: "python", write: writePython },
] as const;

/** A quoted here-document: the shell leaves it unchanged, and it may be longer than an argument. */
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

const prediction = await presage.predict(${toJavaScript(request)}${options});
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
  const body = toJavaScript(known);
  return `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${readableJson(`${origin}/v1`)},
  apiKey: process.env.PRESAGE_API_KEY,
});
${hasFurther ? `\n// Parameters that the client’s types do not name.\nconst further = ${toJavaScript(further)};\n` : ""}
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
    json=${toPython(request, 1)},
    timeout=130,
)
response.raise_for_status()
print(response.json()["response"]["content"])
`;
}
