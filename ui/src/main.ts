// Reads the report out of the page and shows it. A page without one asks the server that handed it out.
import { mount } from 'svelte';
import './tokens.css';
import './page.css';
import App from './App.svelte';
import type { Report } from './report';
import Serve from './serve/Serve.svelte';

const data = document.getElementById('report-data')?.textContent ?? 'null';
const report = JSON.parse(data) as Report | null;
const target = document.getElementById('app');
if (target && report) mount(App, { target, props: { report } });
else if (target) mount(Serve, { target });
