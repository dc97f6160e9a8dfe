// The least that a server on Bun does to hand a chat completion on: read, parse, write, ask, parse, write. No key, no check,
// no limit, no log. What it costs is the runtime's share of what Presage costs.

const upstream = `${process.env.UPSTREAM_ORIGIN}/v1/chat/completions`;
const jsonHeaders = { "content-type": "application/json" };

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  idleTimeout: 255,
  routes: {
    "/ready": new Response("ready"),
    "/v1/chat/completions": {
      POST: async (request) => {
        const body = JSON.stringify(await request.json());
        const response = await fetch(upstream, { method: "POST", headers: jsonHeaders, body });
        return Response.json(await response.json());
      },
    },
  },
});

// Makes this file a module: its names are its own.
export {};
