/** Whether a value is an object or a list. */
export function isContainer<Value>(value: Value): value is Value & object {
  return typeof value === "object" && value !== null;
}
