// Reads the report out of the page and shows it.
import { mount } from 'svelte';
import './tokens.css';
import './page.css';
import App from './App.svelte';
import type { Report } from './report';

const data = document.getElementById('report-data')?.textContent ?? 'null';
const report = JSON.parse(data) as Report | null;
const target = document.getElementById('app');
if (target) mount(App, { target, props: { report } });
