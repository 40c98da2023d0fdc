// Every page of every report in a hand.
import { NARROW } from '../looking/browser.js';
import { testEveryPage } from '../looking/every_page.js';

await testEveryPage(NARROW);
