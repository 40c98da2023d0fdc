// Tells TypeScript of what vite and svelte understand beyond it.
/// <reference types="svelte" />
/// <reference types="vite/client" />
