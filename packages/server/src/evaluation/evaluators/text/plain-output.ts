const thinkBlock = /<think>[\s\S]*?<\/think>/gi;
const openThinkBlock = /<think>[\s\S]*$/i;
const toolResponse = /^\s*<tool_response>([\s\S]*?)(?:<\/tool_response>\s*)?$/i;

/** A model's output without its reasoning and without the tags of a tool's answer around it. */
export function plainOutput(text: string): string {
  const answer = text.replace(thinkBlock, "").replace(openThinkBlock, "");
  return toolResponse.exec(answer)?.[1] ?? answer;
}
