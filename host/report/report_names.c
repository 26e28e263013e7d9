/* SPDX-License-Identifier: MIT */
/* Labels the devices of a report: each label is short and differs from the others. */
#include "report/report_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { NAME_BYTES = 70, PART_BYTES = 36 };

/* Additions to a label that another device has too, tried in this order. */
typedef enum label_part { LABEL_OTHER_NAME, LABEL_FILE, LABEL_PATH, LABEL_ID, LABEL_ORDER, LABEL_PARTS } label_part;

/* Shortens a name: removes additions such as "(R)" and replaces PoCL's long name by its common one. */
static void shorten(const char *name, int most, char text[CLFI_LABEL_BYTES])
{
    static const struct {
        const char *part, *instead;
    } rules[] = {{"Portable Computing Language", "PoCL"}, {"(R)", ""}, {"(TM)", ""}, {"(tm)", ""}, {" Processor", ""}, {" Corporation", ""},
                 {"NVIDIA ", ""}};
    snprintf(text, CLFI_LABEL_BYTES, "%.*s", most, name);
    for (size_t i = 0; i < COUNT(rules); i++) {
        const size_t old = strlen(rules[i].part), new = strlen(rules[i].instead); /* never longer */
        char *at = strstr(text, rules[i].part);
        if (at) {
            memmove(at + new, at + old, strlen(at + old) + 1);
            memcpy(at, rules[i].instead, new);
        }
    }
}

/* Returns the last PART_BYTES bytes of a text, from a whole UTF-8 character on. The end of a path says more than its beginning. */
static const char *end_of(const char *text)
{
    const size_t length = strlen(text);
    const char *at = text + (length > PART_BYTES ? length - PART_BYTES : 0);
    while (((unsigned char)*at & 0xc0) == 0x80)
        at++;
    return at;
}

static void part_text(const clfi_report_data *data, size_t device, label_part part, char text[CLFI_LABEL_BYTES])
{
    const clfi_report_device *d = &data->devices[device];
    const char *path = d->file->path, *slash = strrchr(path, '/');
    const bool is_cpu = strcmp(d->device->type, "CPU") == 0;
    char other[CLFI_LABEL_BYTES];
    shorten(is_cpu ? d->device->name : d->device->platform, PART_BYTES, other);
    if (part == LABEL_OTHER_NAME)
        snprintf(text, CLFI_LABEL_BYTES, ", %.*s", PART_BYTES, other);
    else if (part == LABEL_FILE || part == LABEL_PATH)
        snprintf(text, CLFI_LABEL_BYTES, " (%s)", end_of(part == LABEL_FILE && slash ? slash + 1 : path));
    else
        snprintf(text, CLFI_LABEL_BYTES, part == LABEL_ID ? " #%lld" : " [%lld]",
                 part == LABEL_ID ? (long long)d->device->id : (long long)device + 1);
}

/* Writes the label. A CPU has the same name on each platform, so its label begins with the platform's name. */
static void write_label(clfi_report_data *data, size_t device, const bool parts[LABEL_PARTS])
{
    clfi_report_device *d = &data->devices[device];
    char text[CLFI_LABEL_BYTES];
    shorten(strcmp(d->device->type, "CPU") == 0 ? d->device->platform : d->device->name, NAME_BYTES, d->label);
    for (int part = 0; part < LABEL_PARTS; part++) {
        if (!parts[part] || (part == LABEL_FILE && parts[LABEL_PATH]))
            continue;
        part_text(data, device, (label_part)part, text);
        const size_t used = strlen(d->label);
        snprintf(d->label + used, sizeof d->label - used, "%s", text);
    }
}

/* A device's label and what a part would add to it. */
typedef struct labelled {
    const char *label;
    size_t device;
    char text[CLFI_LABEL_BYTES];
} labelled;

static int by_label(const void *a, const void *b)
{
    return strcmp(((const labelled *)a)->label, ((const labelled *)b)->label);
}

/* Chooses the devices whose labels get this part: those with one label, if their texts for the part differ. */
static void choose_part(const clfi_report_data *data, label_part part, labelled *sorted, bool (*parts)[LABEL_PARTS])
{
    for (size_t i = 0; i < data->device_count; i++) {
        sorted[i].label = data->devices[i].label;
        sorted[i].device = i;
        part_text(data, i, part, sorted[i].text);
    }
    qsort(sorted, data->device_count, sizeof *sorted, by_label);
    for (size_t i = 0, end; i < data->device_count; i = end) {
        bool differ = false;
        for (end = i; end < data->device_count && strcmp(sorted[end].label, sorted[i].label) == 0; end++)
            differ = differ || strcmp(sorted[end].text, sorted[i].text) != 0;
        for (size_t j = i; j < end; j++)
            parts[sorted[j].device][part] = differ;
    }
}

clf_status clfi_report_name_devices(clfi_report_data *data)
{
    bool(*parts)[LABEL_PARTS] = NULL;
    labelled *sorted = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(data->device_count, sizeof *parts, "labels", &parts));
    CLF_GOTO(clfi_alloc(data->device_count, sizeof *sorted, "labels", &sorted));
    for (size_t i = 0; i < data->device_count; i++)
        write_label(data, i, parts[i]);
    for (int part = 0; part < LABEL_PARTS; part++) {
        choose_part(data, (label_part)part, sorted, parts);
        for (size_t i = 0; i < data->device_count; i++)
            write_label(data, i, parts[i]);
    }
done:
    free(parts);
    free(sorted);
    return st;
}
