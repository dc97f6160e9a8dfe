/** An instant as a date-and-time input has it, in the reader's zone. */
export function toLocalInput(instant: string | undefined): string {
  if (instant === undefined) return "";
  const at = new Date(instant);
  const pad = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** What such an input has, as an instant; undefined while it is not whole or its year still is being typed. */
export function fromLocalInput(text: string): string | undefined {
  const at = new Date(text);
  const isWhole = text !== "" && at.getTime() > 0;
  return isWhole ? at.toISOString().replace(".000Z", "Z") : undefined;
}
