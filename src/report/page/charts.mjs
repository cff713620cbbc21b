// The parts of ECharts that page.js uses.
import { init, use } from "echarts/core";
import { ScatterChart, ParallelChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent, DataZoomComponent, ParallelComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([ScatterChart, ParallelChart, LineChart, GridComponent, TooltipComponent, DataZoomComponent, ParallelComponent, CanvasRenderer]);
window.charts = { init };
