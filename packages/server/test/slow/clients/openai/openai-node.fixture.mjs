import OpenAI from "openai";

const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [{ type: "function", function: { name: "temperature", parameters } }];
const asked = [
  { role: "developer", content: [{ type: "text", text: "Be brief." }] },
  { role: "user", content: "Look." },
];
const model = "test-model";

async function chat(client, more = {}) {
  const { choices } = await client.chat.completions.create({ model, messages: asked, ...more });
  return choices[0].message;
}

/** Uses the helper that runs the stream and adds up its chunks. */
async function streamed(client) {
  const options = { model, messages: asked, stream_options: { include_usage: true } };
  return await client.chat.completions.stream(options).finalContent();
}

async function statusOf(call) {
  return await call(new OpenAI({ apiKey: "wrong" })).catch(({ status }) => status);
}

const client = new OpenAI();
const called = await chat(client, { tools });
const result = { role: "tool", tool_call_id: called.tool_calls[0].id, content: "21" };
const answer = {
  plain: (await chat(client)).content,
  streamed: await streamed(client),
  tool: (await chat(client, { tools, messages: [...asked, called, result] })).content,
  statuses: [await statusOf(chat), await statusOf(streamed)],
};
process.stdout.write(JSON.stringify(answer));
