/** The key after G that goes to a page. */
const letters: Record<string, string> = {
  "/": "o",
  "/playground": "p",
  "/predictions": "l",
  "/deployments": "m",
  "/environments": "n",
  "/runs": "r",
  "/datasets": "d",
  "/compare": "c",
  "/evaluations": "e",
  "/evaluators": "v",
  "/error-taxonomies": "t",
  "/review": "w",
  "/usage": "u",
  "/api-keys": "k",
};

export function goKeysOf(path: string): string | undefined {
  const letter = letters[path];
  return letter && `g ${letter}`;
}
