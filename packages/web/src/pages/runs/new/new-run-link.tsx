import { Link } from "@tanstack/react-router";
import { useRefusal } from "../../../data/use-role.ts";
import { AllowedButton } from "../../../session/allowed-button.tsx";
import { type ButtonProps, buttonClass } from "../../../ui/button.tsx";
import type { NewRunSearch } from "./new-run-search.ts";

interface NewRunLinkProps extends Pick<ButtonProps, "variant" | "size" | "icon" | "children"> {
  search?: NewRunSearch;
}

/** To the page New run, or a button that says why the user may start none. */
export function NewRunLink({ search = {}, icon, children, ...look }: NewRunLinkProps) {
  if (useRefusal("evaluate") !== undefined) {
    return (
      <AllowedButton needs="evaluate" icon={icon} {...look}>
        {children}
      </AllowedButton>
    );
  }
  return (
    <Link to="/runs/new" search={search} className={buttonClass(look)}>
      {icon}
      {children}
    </Link>
  );
}
