import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const temperature = tool({
  description: "The temperature in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: () => "21",
});
const chat = (settings) => createOpenAI(settings).chat("test-model");
const asked = { system: "Be brief.", prompt: "Look." };

async function plain(model, more = {}) {
  return (await generateText({ model, ...asked, ...more })).text;
}

async function streamed(model) {
  let text = "";
  for await (const part of streamText({ model, ...asked, onError() {} }).fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") text += part.text;
  }
  return text;
}

async function statusOf(call) {
  return await call(chat({ apiKey: "wrong" })).catch(({ statusCode }) => statusCode);
}

const answer = {
  plain: await plain(chat()),
  streamed: await streamed(chat()),
  tool: await plain(chat(), { tools: { temperature }, stopWhen: stepCountIs(2) }),
  statuses: [await statusOf(plain), await statusOf(streamed)],
};
process.stdout.write(JSON.stringify(answer));
