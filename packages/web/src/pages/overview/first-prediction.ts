/** A command that makes a first prediction, on a server at this address. */
export function firstPrediction(origin: string): string {
  const body = JSON.stringify({
    interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
  });
  return [
    `curl ${origin}/v1/predict \\`,
    `  -H "X-API-KEY: $PRESAGE_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${body}'`,
  ].join("\n");
}
