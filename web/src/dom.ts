// SPDX-License-Identifier: Apache-2.0
// Elements. Text is only ever set as text: no name from a trace becomes markup.

type Attributes = Record<string, string | number | boolean | ((event: any) => void)>;

export function element<K extends keyof HTMLElementTagNameMap>(
	tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			made.addEventListener(name, value);
		else if (typeof value === "boolean")
			made.toggleAttribute(name, value);
		else
			made.setAttribute(name, String(value));
	}
	made.append(...children);
	return made;
}

export function select(label: string, options: [string, string][], value: string, change: (value: string) => void,
	hint = ""): HTMLLabelElement {
	const list = element("select", { change: (event: Event) => change((event.target as HTMLSelectElement).value), "data-name": label });
	for (const [key, text] of options)
		list.append(element("option", { value: key, selected: key === value }, text));
	return element("label", { title: hint }, label + " ", list);
}

// A canvas's own colours follow the page's.
export function color(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

export const isDark = matchMedia("(prefers-color-scheme: dark)");
