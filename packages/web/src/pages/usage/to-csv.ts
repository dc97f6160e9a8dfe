/** Records as CSV (RFC 4180). */
export function toCsv(records: readonly (readonly (string | number)[])[]): string {
  return records.map((record) => `${record.map(toField).join(",")}\r\n`).join("");
}

function toField(value: string | number): string {
  if (typeof value === "number") return String(value);
  // Spreadsheets run what begins like a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
