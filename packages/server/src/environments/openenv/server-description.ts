/** What `openenv validate` reads: the paths of OpenEnv's own server that this one has. Steps are taken over the WebSocket only. */
export const serverDescription = {
  openapi: "3.1.0",
  info: { title: "OpenEnv Environment HTTP API", version: "1.0.0" },
  paths: {
    "/health": { get: { summary: "Health check" } },
    "/metadata": { get: { summary: "Name and description of the environment" } },
    "/schema": { get: { summary: "JSON schemas of actions, observations and the state" } },
    "/list_environments": { get: { summary: "The environment's name" } },
    "/{env_name}/splits": { get: { summary: "Splits of tasks" } },
    "/{env_name}/tasks": { post: { summary: "Tasks of a split" } },
    "/{env_name}/num_tasks": { post: { summary: "Number of tasks in a split" } },
    "/{env_name}/task": { post: { summary: "A task of a split" } },
    "/{env_name}/task_range": { post: { summary: "Part of the tasks of a split" } },
    "/mcp": { post: { summary: "JSON-RPC without methods" } },
  },
};
