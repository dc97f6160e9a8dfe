/** “ignore_case” becomes “Ignore case”, “evaluated_model_gold_answer” becomes “Gold answer”. */
export function humanizeName(name: string): string {
  const words = name.replace(/^evaluated_model_/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
