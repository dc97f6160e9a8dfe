/** A command that makes a prediction on this server, with the key in PRESAGE_API_KEY. */
export function firstPrediction(): string {
  const body = JSON.stringify({
    interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
  });
  return [
    `curl ${location.origin}/v1/predict \\`,
    `  -H "X-API-KEY: $PRESAGE_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${body}'`,
  ].join("\n");
}
