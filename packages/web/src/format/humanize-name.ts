/** The name of a field as words: «ignore_case» is «Ignore case», «evaluated_model_gold_answer» is «Gold answer». */
export function humanizeName(name: string): string {
  const words = name.replace(/^evaluated_model_/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
