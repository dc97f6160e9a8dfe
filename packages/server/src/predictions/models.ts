import type { Services } from "../app/services.ts";
import { reserveResponse } from "../http/reserve-memory.ts";
import { type CallWithCaller, type Route, requestAddress, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { ListedModel } from "../upstream/upstream.ts";

const listPath = "/v1/models";

export function modelRoutes({ deployments, settings }: Services): Route[] {
  /** As models that requests may name. */
  function listDeployments(): ListedModel[] {
    return deployments
      .all()
      .map(({ name }) => ({ id: name, object: "model", created: 0, owned_by: "presage" }));
  }

  async function listUpstream({ request, exchange }: CallWithCaller) {
    const list = await deployments.getDefault().upstream.listModels(request.signal);
    reserveResponse(exchange, list.bytes.length);
    return list;
  }

  return [
    withCaller("GET", listPath, "nothing", async (call) => {
      const own = settings.listsDeployments ? listDeployments() : [];
      const { bytes, models } = await listUpstream(call);
      if (own.length === 0) return new Response(bytes, { headers: { "content-type": "application/json" } });
      const names = new Set(own.map(({ id }) => id));
      return Response.json({ object: "list", data: [...own, ...models.filter(({ id }) => !names.has(id))] });
    }),
    // Not `:id`: the slashes of an id such as `org/model` are encoded by some clients and not by others.
    withCaller("GET", `${listPath}/*`, "nothing", async (call) => {
      const id = decoded(requestAddress(call.request).pathname.slice(listPath.length + 1));
      const isNamed = (listed: ListedModel) => listed.id === id;
      const model = listDeployments().find(isNamed) ?? (await listUpstream(call)).models.find(isNamed);
      if (model === undefined) throw new ServiceError("not_found", "The upstream lists no such model.");
      return Response.json(model);
    }),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
