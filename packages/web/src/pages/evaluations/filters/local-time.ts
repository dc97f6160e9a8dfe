/** The value of a datetime-local input, in the user's time zone. */
export function toLocalInput(instant: string | undefined): string {
  if (instant === undefined) return "";
  const at = new Date(instant);
  const pad = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** Undefined while the input is incomplete, such as a year being typed. */
export function fromLocalInput(text: string): string | undefined {
  const at = new Date(text);
  const isWhole = text !== "" && at.getTime() > 0;
  return isWhole ? at.toISOString().replace(".000Z", "Z") : undefined;
}
