/** What `openenv validate` reads: the paths of OpenEnv's own server that this one has. Steps are taken over the WebSocket only. */
export const serverDescription = {
  openapi: "3.1.0",
  info: { title: "OpenEnv Environment HTTP API", version: "1.0.0" },
  paths: {
    "/health": { get: { summary: "Health check" } },
    "/metadata": { get: { summary: "Name and description of the environment" } },
    "/schema": { get: { summary: "JSON schemas of actions, observations and the state" } },
    "/mcp": { post: { summary: "JSON-RPC without methods" } },
  },
};
