import { Link, type LinkProps } from "@tanstack/react-router";
import {
  ChartColumn,
  ClipboardCheck,
  Database,
  FlaskConical,
  FlaskRound,
  Gauge,
  GitCompareArrows,
  Globe,
  KeyRound,
  ListChecks,
  ListTree,
  type LucideIcon,
  MessagesSquare,
  Orbit,
  Scale,
  ScrollText,
  Search,
  Server,
  Users,
} from "lucide-react";
import { useRole } from "../data/accounts.ts";
import { ThemeMenu } from "../parts/theme-menu.tsx";
import { Keys } from "../ui/shortcuts.tsx";
import { UserMenu } from "./user-menu.tsx";

interface PageLink {
  to: NonNullable<LinkProps["to"]>;
  label: string;
  icon: LucideIcon;
  /** They go to the page. */
  keys?: string;
  /** Others see the reason if they open the page. */
  isForOwners?: boolean;
}

export const linkGroups: { title: string; links: PageLink[] }[] = [
  {
    title: "Predict",
    links: [
      { to: "/", label: "Overview", icon: Gauge, keys: "g o" },
      { to: "/playground", label: "Playground", icon: FlaskConical, keys: "g p" },
      { to: "/worlds", label: "Worlds", icon: Orbit, keys: "g s" },
      { to: "/predictions", label: "Predictions", icon: MessagesSquare, keys: "g l" },
      { to: "/environments", label: "Environments", icon: Globe, keys: "g n" },
      { to: "/deployments", label: "Deployments", icon: Server, keys: "g m" },
    ],
  },
  {
    title: "Evaluate",
    links: [
      { to: "/runs", label: "Runs", icon: FlaskRound, keys: "g r" },
      { to: "/datasets", label: "Datasets", icon: Database, keys: "g d" },
      { to: "/compare", label: "Compare", icon: GitCompareArrows, keys: "g c" },
      { to: "/evaluations", label: "Evaluations", icon: ListChecks, keys: "g e" },
      { to: "/evaluators", label: "Evaluators", icon: Scale, keys: "g v" },
      { to: "/error-taxonomies", label: "Error taxonomies", icon: ListTree, keys: "g t" },
      { to: "/review", label: "Review", icon: ClipboardCheck, keys: "g w" },
    ],
  },
  {
    title: "Account",
    links: [
      { to: "/usage", label: "Usage", icon: ChartColumn, keys: "g u" },
      { to: "/api-keys", label: "API keys", icon: KeyRound, keys: "g k" },
      { to: "/account/members", label: "Members", icon: Users, isForOwners: true },
      { to: "/account/audit-log", label: "Audit log", icon: ScrollText, isForOwners: true },
    ],
  },
];

interface NavigationProps {
  onNavigate?: () => void;
  onSearch(): void;
}

export function Navigation({ onNavigate, onSearch }: NavigationProps) {
  const role = useRole();
  const shown = (links: PageLink[]) => links.filter(({ isForOwners }) => !isForOwners || role === "owner");
  return (
    <div className="flex h-full flex-col gap-4 p-3">
      <div className="px-2 pt-1">
        <Mark />
      </div>
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 items-center gap-2 rounded-md border border-line-strong px-2 text-sm text-ink-3 hover:bg-hover hover:text-ink"
      >
        <Search className="size-4 shrink-0" aria-hidden />
        <span className="flex-1 text-left">Go to …</span>
        <span className="max-md:hidden">
          <Keys keys="mod+k" />
        </span>
      </button>
      <nav aria-label="Pages" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto">
        {linkGroups.map(({ title, links }) => (
          <div key={title}>
            <h2 className="px-2 pb-1 text-xs font-medium text-ink-3">{title}</h2>
            <ul className="flex flex-col gap-0.5">
              {shown(links).map(({ to, label, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ exact: to === "/", includeSearch: false }}
                    {...(onNavigate && { onClick: onNavigate })}
                    className="flex items-center gap-2 rounded-md px-2 py-1.5 text-sm font-medium text-ink-2 -outline-offset-2 transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:text-accent-ink"
                  >
                    <Icon className="size-4 shrink-0" aria-hidden />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="flex flex-col gap-3 border-t border-line pt-3">
        <div className="px-2">
          <ThemeMenu />
        </div>
        <UserMenu />
      </div>
    </div>
  );
}

/** The logo and name. */
export function Mark() {
  return (
    <span className="inline-flex items-center gap-2 text-sm font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-6" aria-hidden>
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <path
          d="M11 24V8h6.2a5.4 5.4 0 0 1 0 10.8H11"
          fill="none"
          stroke="white"
          strokeWidth="3.2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      Presage
    </span>
  );
}
