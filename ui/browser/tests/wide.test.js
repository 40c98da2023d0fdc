// Every page of every report on a desk.
import { WIDE } from '../looking/browser.js';
import { testEveryPage } from '../looking/every_page.js';

await testEveryPage(WIDE);
