"""Analyses of a survey, one file each, over the rows that match conditions.

Every answer is bounded (groups, a page of rows, a sample); the bounds are constants of each file.
"""

from vitexplorer.survey.answers.gallery import count as count
from vitexplorer.survey.answers.gallery import gallery as gallery
from vitexplorer.survey.answers.gallery import rows_at as rows_at
from vitexplorer.survey.answers.gallery import worst as worst
from vitexplorer.survey.answers.gallery import worst_column as worst_column
from vitexplorer.survey.answers.groups import image_groups as image_groups
from vitexplorer.survey.answers.groups import in_group as in_group
from vitexplorer.survey.answers.histogram import histogram as histogram
from vitexplorer.survey.answers.histogram import numeric_columns as numeric_columns
from vitexplorer.survey.answers.map_2d import map_2d as map_2d
from vitexplorer.survey.answers.map_2d import within_map as within_map
from vitexplorer.survey.answers.mean_map import map_of_image as map_of_image
from vitexplorer.survey.answers.mean_map import maps_of as maps_of
from vitexplorer.survey.answers.mean_map import mean_map as mean_map
from vitexplorer.survey.answers.near_duplicates import near_duplicates as near_duplicates
from vitexplorer.survey.answers.per_class import confusion_result as confusion_result
from vitexplorer.survey.answers.per_class import per_class as per_class
from vitexplorer.survey.answers.per_class import per_class_result as per_class_result
from vitexplorer.survey.answers.per_head import head_metrics as head_metrics
from vitexplorer.survey.answers.per_head import per_head as per_head
from vitexplorer.survey.answers.scatter import scatter as scatter
from vitexplorer.survey.answers.typical import most_typical as most_typical
from vitexplorer.survey.answers.typical import most_unusual as most_unusual
from vitexplorer.survey.answers.typical import nearest_to_text as nearest_to_text
