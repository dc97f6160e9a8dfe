export function firstWord(action: string): string {
  return action.split(" ")[0] ?? "";
}
