import {
  defaultPageLimit,
  type Project,
  ProjectCreateRequest,
  ProjectListQuery,
  type ProjectListResponse,
  ProjectPath,
  type ProjectResponse,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { readPage } from "../http/read-page.ts";
import { readBody, readOnce, readPath, readQuery } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { type Route, withCaller } from "../http/route.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { createProject } from "./create-project.ts";
import { findProject } from "./find-project.ts";
import { type ProjectRow, selectProjects } from "./projects-store.ts";

const path = "/v1/projects";

export function projectRoutes(services: Services): Route[] {
  return [
    withCaller("GET", path, "read", async (call) => {
      const page = readPage(readQuery(call, ProjectListQuery), defaultPageLimit);
      const requester = requesterOf(call);
      const found = await selectProjects(services.store.briefReader(requester), requester.accountId, page);
      const response: ProjectListResponse = { projects: found.map(toProject) };
      return Response.json(response);
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readBody(call, ProjectCreateRequest, services.settings.maxShortBodyBytes);
      const newProject = { name: body.name, userId: call.caller.userId };
      const once = readOnce(call, "create project", body);
      const { project, isNew } = await createProject(
        services.evaluation,
        requesterOf(call),
        newProject,
        once,
      );
      // The clients that create projects read this response without a wrapper.
      return Response.json(toProject(project), { status: isNew ? 201 : 200 });
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      const { id } = readPath(call, ProjectPath);
      const project = await findProject(services.evaluation, requesterOf(call), id);
      const response: ProjectResponse = { project: toProject(project) };
      return Response.json(response);
    }),
  ];
}

function toProject({ created_at, ...project }: ProjectRow): Project {
  return { ...project, created_at: toIsoInstant(created_at) };
}
