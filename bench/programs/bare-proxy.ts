// The least that a proxy on Bun must do for a chat completion: read, parse, serialise, fetch, parse, serialise. No key, no
// validation, no limit, no log. Its cost is the runtime's share of Presage's cost.

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

// Makes this file a module, so that its names are not global.
export {};
