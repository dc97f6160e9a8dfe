const model = "stand-in-judge";

/** A server with one model, which finds errors by comparing texts. */
export interface StandInJudge {
  url: string;
  stop(): Promise<void>;
}

/** Gives taxonomies findings without a model. It returns no verdicts, so that judges show what a failure looks like. */
export function startStandInJudge(): StandInJudge {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/v1/models": Response.json({ object: "list", data: [{ id: model, object: "model" }] }),
      "/v1/chat/completions": {
        async POST(request) {
          const { messages, response_format } = await request.json();
          if (response_format?.json_schema?.name !== "give_categories")
            return Response.json({ error: { message: "no verdicts" } }, { status: 400 });
          const content = JSON.stringify(examine(messages[0].content, messages[1].content));
          return Response.json({
            model,
            choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }],
            usage: { prompt_tokens: 400, completion_tokens: 40 },
          });
        },
      },
    },
  });
  return { url: `${server.url}v1`, stop: () => server.stop(true) };
}

interface Findings {
  reasoning: string;
  categories: { id: string; reason: string }[];
}

function examine(instructions: string, question: string): Findings {
  const output = textOf(question, "output");
  const gold = textOf(question, "gold answer");
  const found = findSlips(output, gold, textOf(question, "input"));
  const categories = found.flatMap(([name, reason]) => {
    const id = new RegExp(`^(E\\d+): .*/ ${name}`, "m").exec(instructions)?.[1];
    return id === undefined ? [] : [{ id, reason }];
  });
  return {
    reasoning: `Compared the output with the gold answer: ${categories.length} kinds of error.`,
    categories,
  };
}

/** The slips in an output: the name of the kind, and the reason. */
function findSlips(output: string, gold: string, input: string): [name: string, reason: string][] {
  if (output === gold) return [];
  if (isJson(gold) && !isJson(output)) return [["Broken JSON", "The environment responds with JSON."]];
  const slips: [string, string][] = [];
  if (input.includes(output)) slips.push(["Forgets a change", "It is the state before the action."]);
  const invented = sentencesOf(output).find((sentence) => !gold.includes(sentence));
  if (invented !== undefined)
    slips.push(["Invents an object", `The environment does not say “${cut(invented)}”.`]);
  const missing = sentencesOf(gold).find((sentence) => !output.includes(sentence));
  if (missing !== undefined && invented === undefined)
    slips.push(["Not the environment’s words", `“${cut(missing)}” is missing.`]);
  return slips;
}

function sentencesOf(text: string): string[] {
  return text.split(/[.\n\t]+/).flatMap((sentence) => sentence.trim() || []);
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text;
}

function isJson(text: string): boolean {
  return /^\s*(<tool_response>)?\s*[[{]/.test(text);
}

/** One of the judged texts, from between its marks. */
function textOf(question: string, name: string): string {
  const found = new RegExp(`^<<<DATA \\S+ ${name}>>>\\n([^]*?)\\n<<<END `, "m").exec(question);
  return found?.[1]?.trim() ?? "";
}
