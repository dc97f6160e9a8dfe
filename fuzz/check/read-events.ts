/** A server-sent event. */
export interface ServerEvent {
  name: string;
  data: string;
}

/** The events of a whole stream, without comments; undefined if a client could not read them. */
export function readEvents(text: string): ServerEvent[] | undefined {
  if (!text.endsWith("\n\n")) return undefined;
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  const events = blocks.map((block) => /^event: (\w+)\ndata: ([^\n]*)$/.exec(block));
  return events.every((match) => match !== null)
    ? events.map(([, name = "", data = ""]) => ({ name, data }))
    : undefined;
}
