// Uses the openai client with Presage. Needs a running server, its key in PRESAGE_API_KEY, and `npm install openai`.
import process from "node:process";
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: `${process.argv[2] ?? "http://127.0.0.1:8080"}/v1`,
  apiKey: process.env.PRESAGE_API_KEY,
});

const completion = await client.chat.completions.create({
  model: (await client.models.list()).data[0].id,
  messages: [{ role: "user", content: "State: The fridge is closed.\n\nAction: open fridge" }],
});
process.stdout.write(`${completion.choices[0].message.content}\n`);
