#include "benchpulse/report.h"

#include <stdlib.h>
#include <string.h>

#define BP_MAX_MESSAGES 32
#define BP_MAX_FUNCTION_NAME 256

struct bp_report {
    uint64_t execution_duration_ns;
    char function_name[BP_MAX_FUNCTION_NAME];
    bp_cpu_report_t cpu;
    bp_memory_report_t memory;
    bp_gpu_report_t gpu;
    bp_thread_report_t thread;
    char warnings[BP_MAX_MESSAGES][256];
    char errors[BP_MAX_MESSAGES][256];
    uint32_t warning_count;
    uint32_t error_count;
};

static void bp_report_free_cpu(bp_cpu_report_t *cpu) {
    free(cpu->per_core_utilization);
    cpu->per_core_utilization = NULL;
    cpu->per_core_count = 0;
}

bp_error_t bp_report_create(bp_report_t **report) {
    bp_report_t *created = NULL;
    if (report == NULL) {
        return BP_ERROR_INVALID_ARGUMENT;
    }
    *report = NULL;
    created = (bp_report_t *)calloc(1, sizeof(bp_report_t));
    if (created == NULL) {
        return BP_ERROR_OUT_OF_MEMORY;
    }
    *report = created;
    return BP_OK;
}

void bp_report_destroy(bp_report_t *report) {
    if (report == NULL) {
        return;
    }
    bp_report_free_cpu(&report->cpu);
    free(report);
}

void bp_report_reset(bp_report_t *report) {
    if (report == NULL) {
        return;
    }
    bp_report_free_cpu(&report->cpu);
    memset(report, 0, sizeof(*report));
}

void bp_report_set_duration(bp_report_t *report, uint64_t duration_ns) {
    if (report != NULL) {
        report->execution_duration_ns = duration_ns;
    }
}

void bp_report_set_return_metadata(bp_report_t *report, const char *function_name) {
    if (report == NULL) {
        return;
    }
    if (function_name != NULL) {
        strncpy(report->function_name, function_name, sizeof(report->function_name) - 1);
    }
}

void bp_report_set_cpu(bp_report_t *report, const bp_cpu_report_t *cpu) {
    if (report == NULL || cpu == NULL) {
        return;
    }
    bp_report_free_cpu(&report->cpu);
    report->cpu = *cpu;
    report->cpu.per_core_utilization = NULL;
    report->cpu.per_core_count = 0;
    if (cpu->per_core_count > 0 && cpu->per_core_utilization != NULL) {
        size_t bytes = (size_t)cpu->per_core_count * sizeof(double);
        report->cpu.per_core_utilization = (double *)malloc(bytes);
        if (report->cpu.per_core_utilization != NULL) {
            memcpy(report->cpu.per_core_utilization, cpu->per_core_utilization, bytes);
            /* Only expose a count when the backing array actually exists. */
            report->cpu.per_core_count = cpu->per_core_count;
        }
    }
}

void bp_report_set_memory(bp_report_t *report, const bp_memory_report_t *memory) {
    if (report != NULL && memory != NULL) {
        report->memory = *memory;
    }
}

void bp_report_set_gpu(bp_report_t *report, const bp_gpu_report_t *gpu) {
    if (report != NULL && gpu != NULL) {
        report->gpu = *gpu;
    }
}

void bp_report_set_thread(bp_report_t *report, const bp_thread_report_t *thread) {
    if (report != NULL && thread != NULL) {
        report->thread = *thread;
    }
}

static void bp_report_add_message(
    char messages[BP_MAX_MESSAGES][256],
    uint32_t *count,
    const char *message
) {
    if (message == NULL || count == NULL || *count >= BP_MAX_MESSAGES) {
        return;
    }
    strncpy(messages[*count], message, 255);
    messages[*count][255] = '\0';
    (*count) += 1;
}

void bp_report_add_warning(bp_report_t *report, const char *warning) {
    if (report != NULL) {
        bp_report_add_message(report->warnings, &report->warning_count, warning);
    }
}

void bp_report_add_error(bp_report_t *report, const char *error) {
    if (report != NULL) {
        bp_report_add_message(report->errors, &report->error_count, error);
    }
}

uint64_t bp_report_duration_ns(const bp_report_t *report) {
    return report == NULL ? 0 : report->execution_duration_ns;
}

const bp_cpu_report_t *bp_report_cpu(const bp_report_t *report) {
    return report == NULL ? NULL : &report->cpu;
}

const bp_memory_report_t *bp_report_memory(const bp_report_t *report) {
    return report == NULL ? NULL : &report->memory;
}

const bp_gpu_report_t *bp_report_gpu(const bp_report_t *report) {
    return report == NULL ? NULL : &report->gpu;
}

const bp_thread_report_t *bp_report_thread(const bp_report_t *report) {
    return report == NULL ? NULL : &report->thread;
}

const char *bp_report_function_name(const bp_report_t *report) {
    return report == NULL ? "" : report->function_name;
}

uint32_t bp_report_warning_count(const bp_report_t *report) {
    return report == NULL ? 0 : report->warning_count;
}

uint32_t bp_report_error_count(const bp_report_t *report) {
    return report == NULL ? 0 : report->error_count;
}

const char *bp_report_warning_at(const bp_report_t *report, uint32_t index) {
    if (report == NULL || index >= report->warning_count) {
        return NULL;
    }
    return report->warnings[index];
}

const char *bp_report_error_at(const bp_report_t *report, uint32_t index) {
    if (report == NULL || index >= report->error_count) {
        return NULL;
    }
    return report->errors[index];
}
