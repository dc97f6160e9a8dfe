import { isObject, type LeftOut, listIn, textIn, timeOf } from "../../content.ts";
import { type At, eachDocument, type Layout, objectAt, requiredText } from "../../layout.ts";
import { joinedTurn, type Turn } from "../../turns.ts";

type Node = Record<string, unknown>;

/** The nodes from the root to the one shown last. */
function shownBranch({ value, path }: At): At[] {
  const { value: mapping } = objectAt(value.mapping, [...path, "mapping"]);
  const branch: At[] = [];
  const seen = new Set<string>();
  let id = textIn(value, "current_node") ?? Object.keys(mapping).at(-1);
  while (id !== undefined && Object.hasOwn(mapping, id) && !seen.has(id)) {
    seen.add(id);
    const node = objectAt(mapping[id], [...path, "mapping", id]);
    branch.push(node);
    id = textIn(node.value, "parent");
  }
  return branch.reverse();
}

const ofInterface = /^(user_editable_context|model_editable_context|reasoning_recap)$/;

/** What a message says: its parts, or the single text that its kind of content has. */
function saidIn(content: Node): unknown {
  if (Array.isArray(content.parts))
    return content.parts.map((part: unknown) =>
      // Speech comes with its transcript.
      isObject(part) ? (textIn(part, "text") ?? { type: part.content_type }) : part,
    );
  return content.text ?? content.result ?? "";
}

function turnOf({ value: message, path }: At, leftOut: LeftOut): Turn | undefined {
  const { value: author } = objectAt(message.author, [...path, "author"]);
  const { value: content } = objectAt(message.content, [...path, "content"]);
  const role = requiredText({ value: author, path: [...path, "author"] }, "role");
  const kind = textIn(content, "content_type") ?? "";
  if (ofInterface.test(kind)) {
    leftOut.count("other_event");
    return undefined;
  }
  const said = saidIn(content);
  const at = timeOf(message.create_time);
  if (kind === "thoughts")
    return { by: "agent", reasoning: listIn(content, "thoughts").map((one) => textIn(one, "content") ?? "") };
  if (role === "tool") return { by: "answer", content: said, isError: kind === "system_error", at };
  if ([said].flat().every((part) => part === "")) return undefined;
  if (role === "system") return { by: "system", content: said };
  if (role === "user") return { by: "environment", content: said, at };
  const model = textIn(message.metadata, "model_slug");
  const recipient = textIn(message, "recipient") ?? "all";
  if (recipient === "all") return { by: "agent", content: said, model };
  const [input] = [said].flat();
  return { by: "agent", calls: [{ name: recipient, input }], model };
}

function turnsOf(branch: readonly At[], leftOut: LeftOut): Turn[] {
  const turns: Turn[] = [];
  let unanswered = 0;
  for (const { value: node, path } of branch) {
    const turn = isObject(node.message)
      ? turnOf({ value: node.message, path: [...path, "message"] }, leftOut)
      : undefined;
    if (turn === undefined) continue;
    const last = turns.at(-1);
    // A tool may say several things to one call.
    const isMore = turn.by === "answer" && unanswered === 0;
    if (turn.by === "answer" && !isMore) unanswered -= 1;
    if (turn.by === "agent") unanswered = (last?.by === "agent" ? unanswered : 0) + (turn.calls?.length ?? 0);
    if (turn.by === "agent" && last?.by === "agent") turns[turns.length - 1] = joinedTurn(last, turn);
    else turns.push(isMore ? { by: "environment", content: turn.content } : turn);
  }
  return turns;
}

/** The conversations of ChatGPT's data export. */
export const chatGpt: Layout = {
  format: "chatgpt",
  version: 1,
  about: {
    title: "ChatGPT's data export",
    recognised_by: "conversations with `mapping` and `current_node`",
    trajectory: "a conversation; `conversation_id` or `id`",
    action: "the assistant's message: a call if its `recipient` is a tool, else its text",
    answer: "the tool's messages, or after a text the user's",
    context: "the user's first message; those of `system`",
    also: "`create_time`, `model_slug`",
    left_out: "messages of other branches, `thoughts`, what the interface adds",
    example: `[{"conversation_id":"c1","current_node":"n3","mapping":{"n1":{"id":"n1","parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Find the key."]}}},"n2":{"id":"n2","parent":"n1","message":{"author":{"role":"assistant"},"recipient":"python","content":{"content_type":"code","text":"ls('drawer')"}}},"n3":{"id":"n3","parent":"n2","message":{"author":{"role":"tool","name":"python"},"content":{"content_type":"execution_output","text":"key.txt"}}}}}]`,
  },
  recognises: ({ value }) =>
    isObject(value) && isObject(value.mapping) && typeof value.current_node === "string"
      ? "mapping and current_node"
      : undefined,
  open: eachDocument(function* ({ value }, { leftOut }) {
    const conversation = objectAt(value);
    const branch = shownBranch(conversation);
    leftOut.count("branch", Object.keys(Object(conversation.value.mapping)).length - branch.length);
    const id = textIn(conversation.value, "conversation_id") ?? textIn(conversation.value, "id");
    yield { trace: { id, turns: turnsOf(branch, leftOut) } };
  }),
};
